// Package crd makes resources of CustomResourceDefinitions, and keeps the definitions' own life: which names are accepted, which
// versions are stored, and what happens until a deleted definition is gone.
package crd
