// Package secret turns values, paths, errors and findings of objects into text without secrets. It prints nothing. No other package of the
// command makes text of them: a test reads the source for that.
//
// Its nouns:
//
//   - [Rules] say what is secret in a run. The reader of an object tells them the definitions.
//   - A [View] masks an object. It takes raw parts of the object, each with its path, and returns the parts with secrets masked.
//   - A [Value] is a masked value. Only this package makes one.
//   - [Raw] is text that may contain values of an object. Only a View opens it.
//
// These values are secret:
//
//	object                      value
//	a Secret, of any version    data and stringData, and everything in them or in their place; so are
//	                            members that a Secret does not have
//	kinds with such a schema    fields with format: password, in a CustomResourceDefinition or an OpenAPI document
//	both                        the annotation in which kubectl records the applied configuration;
//	                            the keys and items in paths and managed fields with such values
//
// A value around a secret is shown with the secret masked. A value is secret as a whole if the schema has a list or an object with secrets
// in its place, because its secret parts cannot be separated.
//
// Failures show nothing. The zero View hides everything. An error of an unknown type about an object with secrets is not shown. An
// unreadable text has no known kind, so no error quotes it.
//
// Outputs such as apply -o yaml are the object itself. They show secrets, and use [Product].
package secret
