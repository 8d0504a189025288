--- Colours texts where standard output and standard error are a terminal that has colours and
-- NO_COLOR is not set (https://no-color.org).

local host = package.loaded.ladies_host

local style = {}

local function is_coloured()
  local none, term = os.getenv "NO_COLOR", os.getenv "TERM"
  return host ~= nil and host.is_terminal() and (not none or none == "")
    and term ~= nil and term ~= "dumb" and not term:find "^vt"
end

local function painter(code)
  return function(text)
    return is_coloured() and ("\27[%sm%s\27[0m"):format(code, text) or text
  end
end

--- Returns a text in red, for errors.
style.error = painter "31"

--- Returns a text in bold, for headings.
style.head = painter "1"

--- Returns a faint text, for hints.
style.faint = painter "2"

return style
