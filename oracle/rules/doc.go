// Package rules plays the histories in testdata/script/rules, which show deed's rules, on the field manager of k8s.io/apimachinery. It
// contains only tests.
package rules
