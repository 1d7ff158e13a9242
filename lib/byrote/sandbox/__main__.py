"""`python -m byrote.sandbox` prints which isolation is in force, and why not a stronger one."""

from byrote.sandbox import level

print(level())
