"""What a chapter shows: numbers as text, tables, figures, charts with controls."""
