// Checks a SAM template by AWS's own specification of resource types: `node lint.mjs TEMPLATE`.
// Types, names of properties, required properties, types of values, and what !Ref, !GetAtt and !Sub
// name. Prints a line for each error and exits with 1 if there is one.
import { readFileSync } from 'node:fs';
import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';
import yaml from 'js-yaml';

const SECTIONS = ['AWSTemplateFormatVersion', 'Conditions', 'Description', 'Globals', 'Mappings',
  'Metadata', 'Outputs', 'Parameters', 'Resources', 'Rules', 'Transform'];
const ATTRIBUTES = ['Condition', 'CreationPolicy', 'DeletionPolicy', 'DependsOn', 'Metadata',
  'Properties', 'Type', 'UpdatePolicy', 'UpdateReplacePolicy'];
const OUTPUT = ['Condition', 'Description', 'Export', 'Value'];
const INTRINSICS = ['Base64', 'Cidr', 'FindInMap', 'GetAtt', 'GetAZs', 'If', 'ImportValue', 'Join',
  'Select', 'Split', 'Sub', 'Transform'];
// SAM passes the properties of these events to an event source mapping. The specification of SAM
// lacks the newer ones, that of the mapping has all.
const MAPPED_EVENTS = ['SQSEvent', 'KinesisEvent', 'DynamoDBEvent'];

/** A value that is known only when the template is deployed. */
class Intrinsic {
  constructor(name, argument) {
    this.name = name;
    this.argument = argument;
  }
}

const tags = ['Ref', 'Condition', ...INTRINSICS].flatMap(name =>
  ['scalar', 'sequence', 'mapping'].map(kind =>
    new yaml.Type('!' + name, { kind, construct: data => new Intrinsic(name, data) })));
const template = yaml.load(readFileSync(process.argv[2], 'utf8'),
  { schema: yaml.CORE_SCHEMA.extend(tags) });
const specification = loadAwsServiceSpecSync();
const errors = [];

function error(path, text) {
  errors.push(path + ': ' + text);
}

function resource(type) {
  return specification.lookup('resource', 'cloudFormationType', 'equals', type)[0];
}

function known(path, object, names) {
  for (const name of Object.keys(object ?? {})) {
    if (!names.includes(name)) {
      error(path, `unknown member ${name}`);
    }
  }
}

function checkReferences(path, value) {
  if (value instanceof Intrinsic) {
    if (value.name === 'Ref') {
      checkName(path, value.argument);
    } else if (value.name === 'GetAtt') {
      checkAttribute(path, Array.isArray(value.argument) ? value.argument.join('.') : value.argument);
    } else if (value.name === 'Sub' && typeof value.argument === 'string') {
      for (const [, name] of value.argument.matchAll(/\$\{([^!}][^}]*)\}/g)) {
        name.includes('.') ? checkAttribute(path, name) : checkName(path, name);
      }
    }
    checkReferences(path, value.argument);
  } else if (value !== null && typeof value === 'object') {
    for (const [name, each] of Object.entries(value)) {
      checkReferences(`${path}.${name}`, each);
    }
  }
}

function checkName(path, name) {
  if (!name.startsWith('AWS::') && !(name in template.Resources) && !(name in (template.Parameters ?? {}))) {
    error(path, `no resource or parameter ${name}`);
  }
}

function checkAttribute(path, text) {
  const [name, ...rest] = text.split('.');
  const type = template.Resources[name]?.Type;
  if (type === undefined) {
    error(path, `no resource ${name}`);
  } else if (!type.startsWith('AWS::Serverless::')
      && !(rest.join('.') in (resource(type)?.attributes ?? {}))) {
    error(path, `${type} has no attribute ${rest.join('.')}`);
  }
}

function checkProperties(path, values, properties, others = {}) {
  for (const [name, property] of Object.entries(properties)) {
    if (property.required && values[name] === undefined) {
      error(path, `${name} is required`);
    }
  }
  for (const [name, value] of Object.entries(values)) {
    const property = properties[name] ?? others[name];
    if (property === undefined) {
      error(path, `unknown property ${name}`);
    } else {
      checkValue(`${path}.${name}`, value, property.type);
    }
  }
}

function isObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

const SCALARS = {
  string: value => typeof value === 'string',
  boolean: value => typeof value === 'boolean',
  integer: value => Number.isInteger(value),
  number: value => typeof value === 'number',
  'date-time': value => typeof value === 'string',
  json: value => value !== null,
  tag: isObject
};

function checkValue(path, value, type) {
  if (value instanceof Intrinsic) {
    return;
  }
  if (type.type in SCALARS) {
    if (!SCALARS[type.type](value)) {
      error(path, `${JSON.stringify(value)} is not of type ${type.type}`);
    }
  } else if (type.type === 'array' || type.type === 'map') {
    if (type.type === 'array' ? !Array.isArray(value) : !isObject(value)) {
      error(path, `${JSON.stringify(value)} is not of type ${type.type}`);
    } else {
      Object.entries(value).forEach(([name, each]) => checkValue(`${path}.${name}`, each, type.element));
    }
  } else if (type.type === 'ref') {
    checkObject(path, value, specification.get('typeDefinition', type.reference.$ref));
  } else if (type.type === 'union') {
    checkUnion(path, value, type.types);
  } else {
    error(path, `cannot check type ${type.type}`);
  }
}

function checkObject(path, value, definition) {
  if (!isObject(value)) {
    error(path, `${JSON.stringify(value)} is not a ${definition.name}`);
  } else if (definition.name === 'EventSource') {
    checkEvent(path, value, definition);
  } else {
    checkProperties(path, value, definition.properties);
  }
}

/** The type of an event determines which properties it has. */
function checkEvent(path, value, definition) {
  const choice = definition.properties.Properties.type.types
    .map(each => specification.get('typeDefinition', each.reference.$ref))
    .find(each => each.name === value.Type + 'Event');
  if (choice === undefined) {
    error(path, `unknown type of event ${value.Type}`);
  } else {
    known(path, value, ['Type', 'Properties']);
    checkProperties(path + '.Properties', value.Properties ?? {}, choice.properties,
      MAPPED_EVENTS.includes(choice.name) ? resource('AWS::Lambda::EventSourceMapping').properties : {});
  }
}

/** Accepts a value that one of the types accepts; otherwise reports the errors of the nearest. */
function checkUnion(path, value, types) {
  const before = errors.length;
  let fewest;
  for (const type of types) {
    checkValue(path, value, type);
    const found = errors.splice(before);
    if (fewest === undefined || found.length < fewest.length) {
      fewest = found;
    }
  }
  errors.push(...fewest);
}

known('template', template, SECTIONS);
for (const [name, each] of Object.entries(template.Resources)) {
  const type = resource(each.Type);
  known(name, each, ATTRIBUTES);
  if (type === undefined) {
    error(name, `unknown type ${each.Type}`);
  } else {
    checkProperties(name, each.Properties ?? {}, type.properties);
  }
}
for (const [name, each] of Object.entries(template.Outputs ?? {})) {
  known('Outputs.' + name, each, OUTPUT);
}
checkReferences('template', template);
errors.forEach(each => console.log(each));
console.log(`${Object.keys(template.Resources).length} resources, ${errors.length} errors`);
process.exitCode = errors.length === 0 ? 0 : 1;
