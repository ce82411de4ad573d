// Package crd makes resources from CustomResourceDefinitions. It also implements the life cycle of the definitions: accepted names, stored
// versions, and the deletion of their objects before a deleted definition goes.
package crd
