// Package gen makes random schemas, values and histories of writes, for tests.
//
// Everything is decided by [Choices], so that a seed, or the bytes of a fuzzer, always give the same. Alphabets are small on
// purpose: managers shall meet on the same fields, items shall have the same keys, and names shall be awkward.
//
//   - [NewSchema] makes a schema that has two versions, which differ in what is atomic and what is not.
//   - [Values] makes values of a type, changes them, and takes parts of them as configurations.
//   - [History] is a list of writes by several managers in both versions; [Writer] makes the next one.
package gen
