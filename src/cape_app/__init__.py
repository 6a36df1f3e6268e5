"""The command line of cape: tables in files, words of terminal and page, pages."""
