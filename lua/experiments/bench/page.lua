--- A page whose tables are what commands print: doc/benchmarks.md. Between the two lines
--
--     <!-- ladies bench step --batches 3000 -->
--     <!-- end -->
--
-- stands what that command has printed, followed by the machine where it ran, unless the output
-- itself has a line "Measured on". Settings of the environment may stand before the command. All
-- other text of the page is left as it is.

local page = {}

local BLOCK = "(<!%-%- ([%w_= ]-ladies %l[^\n]-) %-%->\n)(.-)(<!%-%- end %-%->)"

-- Returns the output of a command as a part of the page: Markdown as it is, other text as code.
local function shown(output, where)
  output = output:gsub("%s+$", "")
  local study = output:match "^(.-)\n+in [^\n]+: results%.jsonl[^\n]*$"
  if study then return study .. "\n" end
  if not output:find "^|" and not output:find "\n|" then output = "```\n" .. output .. "\n```" end
  if output:find("Measured on ", 1, true) then return output .. "\n" end
  return ("%s\n\nMeasured on %s.\n"):format(output, where)
end

--- page.commands(text): the commands of a page, an array.
function page.commands(text)
  local list = {}
  for _, command in text:gmatch(BLOCK) do
    list[#list + 1] = command
  end
  return list
end

--- page.remade(text, run, where): the page with new outputs; run(command) gives that of a command,
-- or nil, which leaves what was there. where: the machine, in words.
function page.remade(text, run, where)
  return (text:gsub(BLOCK, function(head, command, old, tail)
    local output = run(command)
    return head .. (output and shown(output, where) or old) .. tail
  end))
end

return page
