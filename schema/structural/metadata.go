package structural

import (
	"fmt"
	"strconv"
	"time"

	"github.com/deed-project/deed/value"
)

// Metadata as an API server prints it. The server decodes metadata to a Go struct and prints the
// struct. Fields that the struct does not have are lost, and fields that it does not print.
// metadata_types.go describes the struct.
//
//	sent     {"name":"a","labels":{},"creationTimestamp":"2024-01-01T02:00:00+02:00","nam":"b"}
//	decoded  {"name":"a","creationTimestamp":"2024-01-01T00:00:00Z"}
//	unknown  metadata.nam

// Metadata returns the metadata of an object as an API server decodes and prints it. It also
// returns the paths of unknown fields, such as metadata.ownerReferences[0].nam, in the order of the
// members. The result shares unchanged parts.
//
//  1. Unknown fields are removed.
//  2. Null, empty and zero fields are removed. Optional fields keep false and 0.
//  3. Times are printed in UTC with seconds. Whole numbers are integers.
//  4. A null in a list of strings or an object of strings becomes the empty string. A null in a
//     list of structures becomes an empty structure.
//  5. Owner references always have apiVersion, kind, name and uid.
//  6. Null metadata is empty metadata.
//
// The error, in the server's words, is about the first field of the wrong type, or the first
// invalid time.
func Metadata(metadata value.Value) (value.Value, []string, error) {
	d := metaDecoder{strict: true, at: trail{{name: "metadata"}}}
	out := d.metadata(metadata)
	if d.err != nil {
		return value.Value{}, nil, d.err
	}
	return out, d.unknown.inOrder(), nil
}

// storedMetadata is Metadata for stored objects. It removes malformed fields, and a missing
// generation becomes 1. The only error is metadata that is not an object.
func storedMetadata(metadata value.Value) (value.Value, error) {
	out, err := lenientMetadata(metadata)
	if err == nil && out.Get("generation").IsAbsent() {
		out = out.With("generation", value.Int(1))
	}
	return out, err
}

// lenientMetadata is Metadata without the fields that are malformed.
func lenientMetadata(metadata value.Value) (value.Value, error) {
	d := metaDecoder{}
	if out := d.metadata(metadata); d.err == nil {
		return out, nil
	}
	if metadata.Kind() != value.KindObject {
		return value.Value{}, fmt.Errorf("invalid metadata: expected object, got %T", metadata.ToAny())
	}
	return d.metadata(rewriteMembers(metadata, value.Value{}, func(name string, member, _ value.Value) value.Value {
		field := metaDecoder{}
		field.metadata(value.Object(value.Member{Name: name, Value: member}))
		if field.err != nil {
			return value.Value{}
		}
		return member
	})), nil
}

// metaDecoder makes metadata canonical.
type metaDecoder struct {
	strict  bool // unknown fields are reported
	at      trail
	unknown paths

	// err is the first error. An invalid time ends decoding at once in kube-apiserver, but a value
	// of the wrong type does not. The error of an invalid time therefore replaces that of a wrong
	// type. fatal is whether err ended decoding.
	err   error
	fatal bool
}

// metadata decodes v. It resets the error of an earlier call.
func (d *metaDecoder) metadata(v value.Value) value.Value {
	d.err, d.fatal = nil, false
	if v.IsNull() {
		return value.Object()
	}
	if v.Kind() != value.KindObject {
		d.fail("json: cannot unmarshal %s into Go value of type v1.ObjectMeta", jsonName(v))
		return v
	}
	return d.structure(v, &objectMeta, "")
}

// fail records an error unless there is one already. Decoding continues.
func (d *metaDecoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// mismatch reports a value that does not fit f, a field of s. prefix is the path of the structure,
// with a trailing dot if it is not empty.
func (d *metaDecoder) mismatch(v value.Value, s *structure, prefix string, f *metaField, typ string) {
	d.fail("json: cannot unmarshal %s into Go struct field %s.%s%s of type %s", jsonName(v), s.name, prefix, f.name, typ)
}

// jsonName returns the kind of v in the words of encoding/json.
func jsonName(v value.Value) string {
	switch v.Kind() {
	case value.KindInt, value.KindFloat:
		return "number"
	case value.KindList:
		return "array"
	}
	return v.Kind().String()
}

// structure decodes the members of an object.
func (d *metaDecoder) structure(v value.Value, s *structure, prefix string) value.Value {
	out := rewriteMembers(v, value.Value{}, func(name string, member, _ value.Value) value.Value {
		f := s.field(name)
		if f == nil {
			if d.strict {
				d.unknown.add(d.at, name)
			}
			return value.Value{}
		}
		return d.field(member, s, f, prefix)
	})
	for i := range s.fields {
		if f := &s.fields[i]; f.always && out.Get(f.name).IsAbsent() {
			out = out.With(f.name, value.String(""))
		}
	}
	return out
}

// field decodes one field of s. It returns the absent value if the field is not printed.
func (d *metaDecoder) field(v value.Value, s *structure, f *metaField, prefix string) value.Value {
	if v.IsNull() {
		return value.Value{}
	}
	var out value.Value
	switch f.form {
	case text:
		out = d.text(v, s, prefix, f, f.typ)
	case integer:
		out = d.integer(v, s, prefix, f)
	case flag:
		if out = v; v.Kind() != value.KindBool {
			d.mismatch(v, s, prefix, f, f.typ)
		}
	case timestamp:
		return d.time(v, s, prefix, f)
	case texts, textMap:
		out = d.texts(v, s, prefix, f)
	case structs:
		out = d.structs(v, s, f)
	case anything:
		return wholeNumbers(v)
	}
	if isZero(out) && !f.pointer && !f.always {
		return value.Value{}
	}
	return out
}

// isZero reports whether v is empty, or 0.
func isZero(v value.Value) bool {
	switch v.Kind() {
	case value.KindInt:
		return v.Int() == 0
	case value.KindString:
		return v.Str() == ""
	case value.KindBool, value.KindFloat:
		return false
	}
	return v.Len() == 0
}

// text decodes a string of the Go type typ. A null, as in a list of strings, becomes the empty
// string.
func (d *metaDecoder) text(v value.Value, s *structure, prefix string, f *metaField, typ string) value.Value {
	switch v.Kind() {
	case value.KindString:
	case value.KindNull:
		return value.String("")
	default:
		d.mismatch(v, s, prefix, f, typ)
	}
	return v
}

// integer decodes an int64; see [wholeNumbers].
func (d *metaDecoder) integer(v value.Value, s *structure, prefix string, f *metaField) value.Value {
	switch v.Kind() {
	case value.KindInt:
	case value.KindFloat:
		if n := wholeNumbers(v); n.Kind() == value.KindInt {
			return n
		}
		d.fail("json: cannot unmarshal number %s into Go struct field %s.%s%s of type int64",
			v.AppendJSON(nil), s.name, prefix, f.name)
	default:
		d.mismatch(v, s, prefix, f, "int64")
	}
	return v
}

// wholeNumbers returns v with integers in place of floats whose JSON text is an integer. Printing v
// and reading it again has the same result.
func wholeNumbers(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindFloat:
		if n, err := strconv.ParseInt(string(v.AppendJSON(nil)), 10, 64); err == nil {
			return value.Int(n)
		}
	case value.KindObject:
		return rewriteMembers(v, value.Value{}, func(_ string, member, _ value.Value) value.Value { return wholeNumbers(member) })
	case value.KindList:
		return rewriteItems(v, value.Value{}, func(_ int, item, _ value.Value) value.Value { return wholeNumbers(item) })
	}
	return v
}

// time decodes a time. A pointer to the zero time becomes null. Any other zero time is left out.
func (d *metaDecoder) time(v value.Value, s *structure, prefix string, f *metaField) value.Value {
	if v.Kind() != value.KindString {
		d.abort(fmt.Errorf("json: cannot unmarshal %s into Go struct field %s.%s%s of type string",
			jsonName(v), s.name, prefix, f.name))
		return v
	}
	t, err := time.Parse(time.RFC3339, v.Str())
	switch {
	case err != nil:
		d.abort(err)
	case t.IsZero() && f.pointer:
		return value.Null()
	case t.IsZero():
		return value.Value{}
	default:
		var b [len(time.RFC3339)]byte
		if out := t.UTC().AppendFormat(b[:0], time.RFC3339); string(out) != v.Str() {
			return value.String(string(out))
		}
	}
	return v
}

// abort records an error that ends decoding in kube-apiserver. It replaces an error of fail.
func (d *metaDecoder) abort(err error) {
	if !d.fatal {
		d.err, d.fatal = err, true
	}
}

// texts decodes a list of strings, or an object of strings.
func (d *metaDecoder) texts(v value.Value, s *structure, prefix string, f *metaField) value.Value {
	switch {
	case f.form == texts && v.Kind() == value.KindList:
		return rewriteItems(v, value.Value{}, func(_ int, item, _ value.Value) value.Value {
			return d.text(item, s, prefix, f, "string")
		})
	case f.form == textMap && v.Kind() == value.KindObject:
		return rewriteMembers(v, value.Value{}, func(_ string, member, _ value.Value) value.Value {
			return d.text(member, s, prefix, f, "string")
		})
	}
	d.mismatch(v, s, prefix, f, f.typ)
	return v
}

// structs decodes a list of structures. The list is a field of the outermost structure.
func (d *metaDecoder) structs(v value.Value, s *structure, f *metaField) value.Value {
	if v.Kind() != value.KindList {
		d.mismatch(v, s, "", f, f.typ)
		return v
	}
	d.at.enterMember(f.name)
	defer d.at.leave()
	return rewriteItems(v, value.Value{}, func(i int, item, _ value.Value) value.Value {
		switch item.Kind() {
		case value.KindObject:
		case value.KindNull:
			item = value.Object()
		default:
			d.mismatch(item, s, "", f, "v1."+f.of.name)
			return item
		}
		d.at.enterItem(i)
		defer d.at.leave()
		return d.structure(item, f.of, f.prefix)
	})
}
