module example.org/library

go 1.26.0

require github.com/deed-project/deed v0.1.0
