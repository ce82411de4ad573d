module github.com/deed-project/deed/oracle

go 1.26.0

require github.com/deed-project/deed v0.0.0

replace github.com/deed-project/deed => ../
