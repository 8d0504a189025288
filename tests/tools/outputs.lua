--- What the commands of a page print, in the page: a listing in the language "output", with a
-- number, has so many of the first lines that the command above it printed.

local outputs = {}

local function first_lines(text, n)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do
    if #lines == n then break end
    lines[#lines + 1] = line
  end
  return table.concat(lines, "\n")
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
      local number
      language, number = fence:match "^(%w*) ?(%d*)"
      if language == "output" then
        list[#list + 1] = first_lines(output_of(command), tonumber(number))
        made[#made + 1] = list[#list]
      end
    end
    ::continue::
  end
  return table.concat(made, "\n") .. "\n", list
end

return outputs
