// Package report prints outcomes of objects: plans, conflicts, owners line by line, explanations, findings and differences. It prints text
// for users, JSON for programs, and pages for browsers. It computes and gathers nothing: all data comes from the packages below it.
package report
