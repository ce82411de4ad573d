// Package structs converts Go structs to documents, and fills them from documents, without JSON
// text in between.
//
// [From] and [Decode] return the document that encoding/json would print for a Go value. [Into]
// fills a Go value as encoding/json would. They follow a plan of the Go type, which is made once
// for each type and process. The plan of a struct lists its members in name order, their offsets in
// memory, and the methods to call. Most types are read directly from memory. Maps and interfaces
// need package reflect.
package structs
