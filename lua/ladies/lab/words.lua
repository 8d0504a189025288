--- Formats shares and intervals for the sentences of the laboratory.

local words = {}

--- Formats a share with three digits: "3.21 %", "1400 %".
function words.percent(x)
  return (x < 9.995 and "%.3g %%" or "%.0f %%"):format(100 * x)
end

--- Formats a share with two digits, for numbers that are not known more precisely: "2.5 %", "110
-- %".
function words.about_percent(x)
  x = 100 * x
  return (x < 10 and "%.2g %%" or "%.0f %%"):format(x)
end

--- Formats an interval {mean =, low =, high =} as "1.30 (1.28 to 1.32)", each number in `format`
-- ("%.2f") and times `scale` (1).
function words.interval(x, format, scale)
  format, scale = format or "%.2f", scale or 1
  return (format .. " (" .. format .. " to " .. format .. ")"):format(scale * x.mean,
    scale * x.low, scale * x.high)
end

--- Returns a text with its first letter in upper case.
function words.capital(text) return (text:gsub("^%l", string.upper)) end

return words
