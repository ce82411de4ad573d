// Package recording reads what a real API server was asked and what it answered, and compares
// answers with it.
//
// A [Scenario] is the history of one object: the CustomResourceDefinition of its kind and the
// [Step]s, each a request with the answer that the server gave. Whoever answers the same requests
// has an [Answer] for each; [Compare] says where it differs from the recorded one.
package recording
