module sigs.k8s.io/structured-merge-diff/v6

go 1.26.0

require (
	github.com/deed-project/deed v0.1.0
	go.yaml.in/yaml/v2 v2.4.4
)
