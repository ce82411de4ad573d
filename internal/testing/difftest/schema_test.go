package difftest

import (
	smdschema "sigs.k8s.io/structured-merge-diff/v4/schema"

	"github.com/deed-project/deed/schema"
)

// smdTypes returns the types of d in the reference's form.
func smdTypes(d *schema.Document) []smdschema.TypeDef {
	var out []smdschema.TypeDef
	for _, def := range d.Types {
		out = append(out, smdschema.TypeDef{Name: def.Name, Atom: smdAtom(def.Atom)})
	}
	return out
}

func smdAtom(a schema.Atom) (out smdschema.Atom) {
	if a.Scalar != schema.None {
		scalar := smdschema.Scalar(a.Scalar.String())
		if a.Scalar == schema.UnknownScalar {
			scalar = smdschema.Scalar(a.Word)
		}
		out.Scalar = &scalar
	}
	if a.List != nil {
		out.List = &smdschema.List{
			ElementType:         smdRef(a.List.ElementType),
			ElementRelationship: smdschema.ElementRelationship(a.List.Relationship),
			Keys:                a.List.Keys,
		}
	}
	if a.Map != nil {
		out.Map = &smdschema.Map{
			ElementType:         smdRef(a.Map.ElementType),
			ElementRelationship: smdschema.ElementRelationship(a.Map.Relationship),
		}
		for _, f := range a.Map.Fields {
			out.Map.Fields = append(out.Map.Fields, smdschema.StructField{
				Name: f.Name, Type: smdRef(f.Type), Default: f.Default.ToAny(),
			})
		}
	}
	return out
}

func smdRef(r schema.TypeRef) smdschema.TypeRef {
	out := smdschema.TypeRef{Inlined: smdAtom(r.Inlined)}
	if r.NamedType != "" {
		out.NamedType = &r.NamedType
	}
	if r.Relationship != "" {
		relationship := smdschema.ElementRelationship(r.Relationship)
		out.ElementRelationship = &relationship
	}
	return out
}
