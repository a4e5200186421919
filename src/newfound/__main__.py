"""`python -m newfound` is the command `newfound`, for where that is not on the path."""

from newfound.cli import main

if __name__ == "__main__":
    main()
