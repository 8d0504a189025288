--- Fills in what the commands of a page print: a listing in the language "output" has so many of
-- the first lines that the command above it printed as the number behind the word says, and of the
-- last ones as a second number says, and "..." where others are left out.

local outputs = {}

local function ends_of(text, n_first, n_last)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  if #lines <= n_first + n_last then return table.concat(lines, "\n") end
  local shown = table.move(lines, 1, n_first, 1, {})
  shown[#shown + 1] = "..."
  table.move(lines, #lines - n_last + 1, #lines, #shown + 1, shown)
  return table.concat(shown, "\n")
end

--- The page with today's outputs, where output_of(command) is what a command printed; and an array
-- of these outputs.
function outputs.filled(page, output_of)
  local made, list, language, command = {}, {}, nil, nil
  for line in page:gmatch "([^\n]*)\n" do
    local fence = line:match "^```(.*)$"
    if language == "sh" and not fence then command = line end
    if fence or language ~= "output" then made[#made + 1] = line end
    if not fence then
      goto continue
    elseif language then
      language = nil
    else
      local first, last
      language, first, last = fence:match "^(%w*) ?(%d*) ?(%d*)"
      if language == "output" then
        list[#list + 1] = ends_of(output_of(command), tonumber(first), tonumber(last) or 0)
        made[#made + 1] = list[#list]
      end
    end
    ::continue::
  end
  return table.concat(made, "\n") .. "\n", list
end

return outputs
