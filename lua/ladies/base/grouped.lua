--- grouped(n): 1234567 as "1,234,567".
return function(n)
  return (("%d"):format(n):reverse():gsub("%d%d%d", "%0,"):reverse():gsub("^(-?),", "%1"))
end
