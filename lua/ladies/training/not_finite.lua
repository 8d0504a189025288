--- not_finite(x): how an infinity or a NaN is written ("inf", "-inf", "nan"); nil for any other
-- number.
return function(x)
  if x ~= x then return "nan" end
  return (x == math.huge or x == -math.huge) and tostring(x) or nil
end
