"""`python -m bot`: the command `dualgate`."""

from bot.cli import main

main()
