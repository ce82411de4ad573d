package schema

// SchemaSchemaYAML is the schema of schemas, written as a schema.
var SchemaSchemaYAML = `types:
- {name: schema, map: {fields: [{name: types, type: {list: {
    elementRelationship: associative, elementType: {namedType: typeDef}, keys: [name]}}}]}}
- name: typeDef
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: scalar, type: {scalar: string}}
    - {name: map, type: {namedType: map}}
    - {name: list, type: {namedType: list}}
    - {name: untyped, type: {namedType: untyped}}
- name: typeRef
  map:
    fields:
    - {name: namedType, type: {scalar: string}}
    - {name: scalar, type: {scalar: string}}
    - {name: map, type: {namedType: map}}
    - {name: list, type: {namedType: list}}
    - {name: untyped, type: {namedType: untyped}}
    - {name: elementRelationship, type: {scalar: string}}
    - {name: nullable, type: {scalar: boolean}}
- {name: scalar, scalar: string}
- name: map
  map:
    fields:
    - {name: fields, type: {list: {elementRelationship: associative, elementType: {namedType: structField}, keys: [name]}}}
    - {name: unions, type: {list: {elementRelationship: atomic, elementType: {namedType: union}}}}
    - {name: elementType, type: {namedType: typeRef}}
    - {name: elementRelationship, type: {scalar: string}}
- name: unionField
  map:
    fields:
    - {name: fieldName, type: {scalar: string}}
    - {name: discriminatorValue, type: {scalar: string}}
- name: union
  map:
    fields:
    - {name: discriminator, type: {scalar: string}}
    - {name: deduceInvalidDiscriminator, type: {scalar: boolean}}
    - {name: fields, type: {list: {elementRelationship: associative, elementType: {namedType: unionField}, keys: [fieldName]}}}
- name: structField
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: type, type: {namedType: typeRef}}
    - {name: default, type: {namedType: __untyped_atomic_}}
- name: list
  map:
    fields:
    - {name: elementType, type: {namedType: typeRef}}
    - {name: elementRelationship, type: {scalar: string}}
    - {name: keys, type: {list: {elementRelationship: atomic, elementType: {scalar: string}}}}
- {name: untyped, map: {fields: [{name: elementRelationship, type: {scalar: string}}]}}
- name: __untyped_atomic_
  scalar: untyped
  list: {elementRelationship: atomic, elementType: {namedType: __untyped_atomic_}}
  map: {elementRelationship: atomic, elementType: {namedType: __untyped_atomic_}}
`
