"""Programs that show cubepy at work; each one runs in the tests."""
