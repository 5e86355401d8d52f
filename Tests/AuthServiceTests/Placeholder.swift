// Tests follow with the code.
