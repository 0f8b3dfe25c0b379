"""`python -m smoothcert` is the command `smoothcert`."""

from smoothcert.cli.app import main

main()
