--- Formats lists of numbers in columns.

local numbers = {}

local LARGEST_INTEGER, LARGEST, SMALLEST = 1e7, 1e5, 1e-3

-- Returns one format that suits all numbers of a list: "%.0f" where they are integers, a fixed
-- number of decimals for numbers of moderate size, and "%.3e" for others.
local function format(list)
  local all_integers, largest = true, 0
  for _, x in ipairs(list) do
    local is_finite = x == x and math.abs(x) ~= math.huge
    if is_finite then
      all_integers = all_integers and x == math.floor(x) and math.abs(x) < LARGEST_INTEGER
      largest = math.max(largest, math.abs(x))
    end
  end
  if all_integers then return "%.0f" end
  if largest >= LARGEST or largest < SMALLEST then return "%.3e" end
  local digits = math.max(0, math.floor(math.log(largest, 10)))
  return ("%%.%df"):format(math.max(1, 4 - digits))
end

--- Returns the numbers of a list as texts, all in one format.
function numbers.texts(list)
  local form, texts = format(list), {}
  for i, x in ipairs(list) do texts[i] = x ~= x and "nan" or form:format(x) end
  return texts
end

--- Arranges texts in columns, aligned on the right, and returns the lines, of at most `width`
-- columns.
function numbers.lines(texts, width)
  local widest = 1
  for _, text in ipairs(texts) do widest = math.max(widest, #text) end
  local n_columns, lines = math.max(1, (width - 2) // (widest + 2)), {}
  for first = 1, #texts, n_columns do
    local cells = {}
    for i = first, math.min(#texts, first + n_columns - 1) do
      cells[#cells + 1] = (" "):rep(widest - #texts[i]) .. texts[i]
    end
    lines[#lines + 1] = "  " .. table.concat(cells, "  ")
  end
  return lines
end

--- Returns a text with the least and the largest number of a Tensor, which must not be empty.
function numbers.range(t)
  local is_finite, value, row, column = t:is_finite()
  if not is_finite then
    return ("not finite: %s at %s"):format(value ~= value and "nan" or tostring(value),
      t.ndim == 2 and ("(%d, %d)"):format(row, column) or row)
  end
  local least, most = t:min(), t:max()
  if least == most then return ("all %.6g"):format(least) end
  return ("%.4g to %.4g"):format(least, most)
end

local ENDS, WIDEST_LINES = 8, 4

--- Shows a list of n elements in lines: all elements of a short list, the first and the last ones
-- of a long one. at(first, last) gives the texts of the elements from first to last.
function numbers.ends(n, at, width)
  local all = n <= 100 and numbers.lines(at(1, n), width)
  if all and #all <= WIDEST_LINES then return table.concat(all, "\n") end
  local head, tail, room = at(1, ENDS), at(n - ENDS + 1, n), ENDS
  local function line()
    return ("  %s  ...  %s"):format(table.concat(head, "  ", 1, room),
      table.concat(tail, "  ", #tail - room + 1))
  end
  while room > 1 and #line() > width do room = room - 1 end
  return line()
end

return numbers
