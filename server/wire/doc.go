// Package wire reads requests and writes responses. [Negotiate] selects the representation of a response. [ReadBody], [DecodeObject] and
// [DecodeApply] read a body. [Write] and [Stream] write a response as JSON, YAML, protocol buffers or CBOR, also as a Table or
// PartialObjectMetadata, optionally indented or compressed.
//
// Objects are [value.Value] and JSON text. The fast path of decoding is deed's own parser. If that parser finds an error, the library that
// kube-apiserver uses decodes the body again. The library then decides: its error text is the answer, and an object that it accepts is
// accepted.
package wire
