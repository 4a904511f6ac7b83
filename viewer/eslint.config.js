import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "dist-lab", "node_modules"] },
  ...tseslint.configs.strict,
  {
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off",
      "max-len": ["error", { code: 120 }],
      // names of scenarios are text: nothing may read them as markup
      "no-restricted-properties": [
        "error", { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" },
      ],
      "no-restricted-syntax": ["error", "JSXAttribute[name.name='dangerouslySetInnerHTML']"],
    },
  },
);
