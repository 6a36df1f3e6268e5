"""``python -m cape`` is the command line."""

from cape.cli import main

if __name__ == "__main__":
    main()
