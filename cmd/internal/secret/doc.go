// Package secret is the only door through which what objects hold becomes text: values, paths,
// errors and findings about them. Nothing in it prints, and nothing else in the command turns a
// value, a path or an error into text: a test reads the source for that.
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
// A value around a secret is shown with the secret in it masked. A value that stands where a list
// or an object with secrets in it should be, is secret: nobody knows what of it was meant to be.
//
// What fails shows nothing: the zero View hides everything; an error that this package does not
// know is not shown if it is about an object with secrets; a text that cannot be read, so that
// nobody knows what object it is, is never quoted.
//
// Some outputs are the object, and show it because that was asked for: [Product].
package secret
