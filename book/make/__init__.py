"""The build: execute every chapter, check its claims and numbers, render the pages, print the PDF, pack a release."""
