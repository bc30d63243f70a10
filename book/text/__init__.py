"""The build: execute every chapter, check its claims and numbers, render the pages, and print the PDF."""
