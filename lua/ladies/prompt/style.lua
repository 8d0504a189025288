--- Colours, where standard output and standard error are a terminal that has them and NO_COLOR is
-- not set (https://no-color.org).

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

--- The text in red, of errors.
style.error = painter "31"

--- The text in bold, of headings.
style.head = painter "1"

--- The text faint, of hints.
style.faint = painter "2"

return style
