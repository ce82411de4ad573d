// Package builtin makes the resources of built-in kinds. A [Form] decodes and encodes objects through their Go types. [Kinds] returns the
// resources that are only stored, and [Namespaces] the resource that every server needs.
package builtin
