module github.com/deed-project/deed

go 1.25.0
