// Package gen makes random schemas, values and histories of writes, for tests.
//
// [Choices] makes all decisions, so that a seed, or the bytes of a fuzzer, always give the same outcome. Alphabets are small on purpose:
// managers should write the same fields, and items should have the same keys. Some names are awkward.
//
//   - [NewSchema] makes a schema with several versions, in which different types are atomic or granular.
//   - [Values] makes values of a type, changes them, and takes parts of them as configurations.
//   - [History] is a list of writes by several managers in all versions; [Writer] makes the next one.
package gen
