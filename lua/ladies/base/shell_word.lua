--- Writes words of command lines for a shell.

--- shell_word(text) -> string: the text in single quotes, within which a shell interprets nothing.
return function(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
