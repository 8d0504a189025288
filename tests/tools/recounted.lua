--- recounted(page, command, count): a page with today's lines of code in the second column of the
-- table between "<!-- COMMAND -->" and "<!-- end -->"; count(name) gives those of the row that
-- begins with this name. The other cells, which were measured, stay.
return function(page, command, count)
  local head = ("<!-- %s -->\n"):format(command)
  local from = select(2, page:find(head, 1, true))
  local to = page:find("<!-- end -->", from, true)
  local function cell(start, name, old)
    return ("%s%" .. #old .. "d"):format(start, count(name))
  end
  local block = page:sub(from, to - 1):gsub("(\n| *([%w_]+)[^|]*|)( *%d+)", cell)
  return page:sub(1, from - 1) .. block .. page:sub(to)
end
