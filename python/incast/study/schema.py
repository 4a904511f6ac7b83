"""JSON schema of study files, for editors: keys of ``[set]``, ``[axes]`` and ``[arms]`` are those of scenarios."""

from __future__ import annotations

import json
from typing import Any

from incast import _core
from incast.study.axes import DESIGNS, SCALES
from incast.study.definition import KEEPS

Schema = dict[str, Any]
_LISTS = ("traffic", "job", "links", "failures")
"""Lists of a scenario, whose keys a study changes by name: ``traffic.flows``."""


def schema() -> Schema:
    """Return the schema; it has everything in it."""
    scenario = _in_part(json.loads(_core.schema()))
    keys: Schema = scenario["properties"]
    for name in _LISTS:
        keys[name] = {"description": keys[name]["description"]}
    own = {"name": keys.pop("name"), "description": keys.pop("description")}
    settings = {"type": "object", "description": "Keys for all runs.", "properties": keys}
    value = {"type": ["integer", "array"], "minimum": 1, "minItems": 1, "items": {"type": "integer"}}
    properties = {
        "name": own["name"] | {"description": "Name of the study; default: the name of the file."},
        "scenario": {
            "type": ["string", "array"],
            "items": {"type": "string"},
            "minItems": 1,
            "description": "Built-in scenario, path relative to the study file, or a list of these.",
        },
        "seeds": value | {"description": "A number n (seeds 1 to n), or a list of seeds."},
        "design": {"enum": list(DESIGNS), "description": "Combination of the axes' values.", "default": "grid"},
        "samples": value | {"description": "Points of a random or Latin hypercube design."},
        "design_seed": {"type": "integer", "description": "Seed of drawn values.", "default": 1},
        "keep": {
            "type": "array",
            "items": {"enum": list(KEEPS)},
            "description": "Tables of the runs that the store keeps; []: figures alone.",
        },
        "set": settings,
        "axes": _axes(keys),
        "arms": {
            "type": "object",
            "description": "Named sets of keys, made at every point; a text is the controller of all flows.",
            "additionalProperties": {
                "anyOf": [
                    {"type": "string"},
                    {"type": "object", "properties": {**keys, "axes": _axes(keys)}},
                ]
            },
        },
        "tune": {"type": "object", "description": "Objective of incast tune."},
        "sensitivity": {"type": "object", "description": "Figures of incast sensitivity."},
    }
    return {
        "$schema": scenario["$schema"],
        "title": "Study",
        "description": "Axes, arms and seeds over scenarios, for incast study run.",
        "type": "object",
        "properties": properties,
        "required": ["scenario"],
        "additionalProperties": False,
        "$defs": scenario["$defs"] | {"Axis": _AXIS},
    }


_AXIS: Schema = {
    "anyOf": [
        {"type": "array", "minItems": 1, "description": "Values."},
        {
            "type": "object",
            "description": "A range, or values to draw from.",
            "properties": {
                "from": {"type": ["number", "string"], "description": "Smallest value."},
                "to": {"type": ["number", "string"], "description": "Largest value."},
                "steps": {"type": "integer", "minimum": 1, "description": "Number of values."},
                "samples": {"type": "integer", "minimum": 1, "description": "Number of drawn values."},
                "scale": {"enum": list(SCALES), "default": "linear"},
                "whole": {"type": "boolean", "description": "Whole numbers alone."},
                "values": {"type": "array", "minItems": 1},
                "range": {"const": "declared", "description": "The range that the controller declares."},
            },
            "anyOf": [{"required": ["from", "to"]}, {"required": ["range"]}, {"required": ["values"]}],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "description": "Further words of the key.",
            "additionalProperties": {"$ref": "#/$defs/Axis"},
        },
    ]
}


def _axes(keys: Schema) -> Schema:
    """Return the schema of a table of axes, with the first words of keys."""
    known = {name: {"$ref": "#/$defs/Axis", "description": one.get("description", "")} for name, one in keys.items()}
    return {
        "type": "object",
        "description": "Keys that vary: a list of values, or { from = 0.1, to = 0.9, steps = 5 }.",
        "properties": known,
        "additionalProperties": {"$ref": "#/$defs/Axis"},
    }


def _in_part(schema: Any) -> Any:
    """Return a schema of parts of what another one describes: nothing is required, and a kind may be open."""
    if isinstance(schema, list):
        return [_in_part(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: one for key, one in schema.items() if key not in ("required", "minItems")}
    return {"anyOf" if key == "oneOf" else key: _in_part(one) for key, one in kept.items()}
