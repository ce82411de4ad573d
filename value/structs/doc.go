// Package structs takes Go structs for documents, and fills them from documents, without printing
// JSON text in between.
//
// [From] and [Decode] return the document that a Go value is in the eyes of encoding/json, and
// [Into] fills a Go value as encoding/json would. Both follow a plan of the Go type, which is made
// once per type and process: the members of a struct in name order, where in memory each lies, and
// which methods have a say. What most types need is read from memory at once; package reflect is
// left for maps and interfaces.
package structs
