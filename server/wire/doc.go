// Package wire is what goes over the connection: which representation a client accepts ([Negotiate]), what its body says
// ([ReadBody], [DecodeObject], [DecodeApply]), and how an answer is written ([Write], [Stream]): as JSON, YAML, a Table or
// PartialObjectMetadata, pretty or not, compressed or not.
//
// Objects come and go as [value.Value] and JSON text. The quick way through a body is deed's own parser; where it finds
// something wrong, the library that kube-apiserver uses is asked for the text of the refusal, and what it accepts is accepted.
package wire
