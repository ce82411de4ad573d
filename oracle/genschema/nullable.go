package main

import smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"

// nullable reports whether a reference admits null. Command oracle/releases replaces this file: schemas of older releases do not say it.
func nullable(ref smdschema.TypeRef) bool { return ref.Nullable }
