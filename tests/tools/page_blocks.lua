--- page_blocks(text): returns the listings of a page of Markdown as {language =, file =, section =,
-- text =}: behind the three quotes stand the language and, for some, the name of a file; `section`
-- is the heading above.
return function(page)
  local blocks, section, open = {}, nil, nil
  for line in page:gmatch "([^\n]*)\n" do
    if open and line == "```" then
      open.text = table.concat(open.lines, "\n") .. "\n"
      blocks[#blocks + 1], open = open, nil
    elseif open then
      open.lines[#open.lines + 1] = line
    elseif line:find "^```" then
      local language, file = line:match "^```(%w+) ?(.*)$"
      open = {language = language, file = file ~= "" and file or nil, section = section, lines = {}}
    else
      section = line:match "^## (.*)" or section
    end
  end
  return blocks
end
