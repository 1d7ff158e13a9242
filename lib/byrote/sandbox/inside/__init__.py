"""What runs in the clean process of a worker; imports nothing of byrote."""
