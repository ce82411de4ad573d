// Package report says what became of objects, or would: plans, conflicts, owners line by line,
// explanations, findings and differences, as text for people, as JSON for programs, and as pages
// for browsers. It computes no outcome, and gathers nothing: what there is to say comes from the
// packages below it.
package report
