work; answer 1764
