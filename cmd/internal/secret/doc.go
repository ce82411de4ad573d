// Package secret turns values, paths, errors and findings of objects into text, without secrets. It
// prints nothing. No other package of the command makes text of them: a test reads the source for that.
//
// Its nouns:
//
//   - [Rules] say what is secret in a run. Whatever reads an object tells them of definitions.
//   - A [View] is an object as it may be seen. It takes raw parts of the object, each with its path,
//     and returns what may be shown.
//   - A [Value] is a value as it may be shown. Only this package makes one.
//   - [Raw] is text that may hold values of an object. Only a View opens it.
//
// This is secret:
//
//	object                      value
//	a Secret, of any version    data and stringData, what is in them or what they are instead; so are
//	                            members that a Secret does not have
//	kinds whose schema says so  what has format: password, in a CustomResourceDefinition or an OpenAPI document
//	both                        the annotation in which kubectl records what it applied;
//	                            the keys and items in paths and managed fields that are such values
//
// A value around a secret is shown with the secret in it masked. A value is secret as a whole if the
// schema has a list or an object with secrets in its place: the secret parts of it cannot be told apart.
//
// Failures show nothing. The zero View hides everything. An error of an unknown type about an object
// with secrets is not shown. A text that cannot be read has no known kind, so no error quotes it.
//
// Outputs such as apply -o yaml are the object itself. They show secrets, and use [Product].
package secret
