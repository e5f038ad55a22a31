"""What to run: scenario files, validated once at the edge."""
