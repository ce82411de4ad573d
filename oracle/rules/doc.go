// Package rules has the field manager of k8s.io/apimachinery answer the histories that show deed's rules, which are in
// testdata/script/rules. It holds nothing but tests.
package rules
